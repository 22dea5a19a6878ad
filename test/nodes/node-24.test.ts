import { smokeCases } from './cases.ts';
import { readmeCases } from './readme.ts';

smokeCases('24');
readmeCases('24');
