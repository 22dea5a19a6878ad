// Loaded before the program, which keeps compiled code below the home that the system knows, if HOME names the same.
// With STENO_TEST_CODE that is this folder, for all tests; else it is STENO_TEST_HOME.
const os = require('node:os');
const { homedir, userInfo } = os;
const { STENO_TEST_CODE: shared, STENO_TEST_HOME: home } = process.env;
let comesNext = false;

os.userInfo = (...args) =>
  Object.defineProperty(userInfo(...args), 'homedir', {
    get() {
      comesNext = shared !== undefined;
      return shared ?? home;
    },
  });

// The program compares it with what it has just read.
os.homedir = () => {
  const answer = comesNext ? shared : homedir();
  comesNext = false;
  return answer;
};
