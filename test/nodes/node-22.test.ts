import { smokeCases } from './cases.ts';
import { readmeCases } from './readme.ts';

smokeCases('22');
readmeCases('22');
