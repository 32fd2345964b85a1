/** Pattern of a schedule's name. */
export const scheduleIdPattern = /^[A-Za-z0-9][\w.-]{0,63}$/
export const scheduleIdWords = 'use 1 to 64 letters, digits, ".", "_" or "-", starting with a letter or digit'
