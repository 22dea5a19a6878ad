import { smokeCases } from './cases/all.ts';

smokeCases('20');
