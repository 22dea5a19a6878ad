import { smokeCases } from './cases.ts';
import { readmeCases } from './readme.ts';

smokeCases('20');
readmeCases('20');
