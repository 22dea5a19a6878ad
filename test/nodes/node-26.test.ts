import { smokeCases } from './cases.ts';

smokeCases('26');
