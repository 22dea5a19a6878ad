#!/usr/bin/env node
import '../dist/steno.js';
