/** Returns the path as it is. A page has no folders: a path to one is refused where it would be read. */
export const resolve = (path: string): string => path

function normalize(path: string): string {
  const isAbsolute = path.startsWith('/')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (!isAbsolute) parts.push(part)
  }
  const joined = `${isAbsolute ? '/' : ''}${parts.join('/')}`
  if (joined === '') return path.endsWith('/') ? './' : '.'
  return path.endsWith('/') && joined !== '/' ? `${joined}/` : joined
}

/** The part of `path.posix` for the paths of rules about calls. */
export const posix = { normalize }
