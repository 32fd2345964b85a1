import { isAbsolute, relative, sep } from 'node:path'

/** Returns true if a path is the folder `root` or lies below it; both absolute and without links. */
export const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
