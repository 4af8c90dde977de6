export const suppressionsLock = 7_305_902_312;
