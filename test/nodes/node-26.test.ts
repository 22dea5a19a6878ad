import { smokeCases } from './cases.ts';
import { readmeCases } from './readme.ts';

smokeCases('26');
readmeCases('26');
