/** Number of the advisory lock of the suppression list. */
export const suppressionsLock = 7_305_902_312;
