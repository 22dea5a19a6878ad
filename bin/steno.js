#!/usr/bin/env node
// First of all: it hides the command line, which may hold a key, from a list of processes.
process.title = 'steno';
require('../dist/launch.js');
