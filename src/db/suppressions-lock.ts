/** Number of the advisory lock of the suppression list; nothing else locks it. */
export const suppressionsLock = 7_305_902_312;
