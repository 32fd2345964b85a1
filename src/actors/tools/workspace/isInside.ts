import { isAbsolute, relative, sep } from 'node:path'

/** Whether a path is a folder or lies below it; both absolute and without links. */
export const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
