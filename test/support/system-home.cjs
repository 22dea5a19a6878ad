// Loaded before the program: the system calls the folder of a test's user their home, as it does with a real user.
const os = require('node:os');
const { userInfo } = os;
os.userInfo = (...args) => ({ ...userInfo(...args), homedir: process.env.STENO_TEST_HOME });
