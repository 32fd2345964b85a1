/** A page has no folders: what names one is refused where it would be read. */
export const resolve = (path: string): string => path
