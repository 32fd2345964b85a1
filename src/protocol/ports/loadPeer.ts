import { RuntimeError } from '../errors.ts'

/** Loads a module that needs a peer dependency. @throws RuntimeError `PACKAGE_MISSING` if it is not installed; `who` needs it. */
export async function loadPeer<T>(load: () => Promise<T>, who: string, packageName: string): Promise<T> {
  try {
    return await load()
  } catch (thrown) {
    throw packageMissing(thrown, who, packageName)
  }
}

/** Loads a peer dependency synchronously. @throws RuntimeError `PACKAGE_MISSING` if it is not installed; `who` needs it. */
export function requirePeer<T>(load: () => T, who: string, packageName: string): T {
  try {
    return load()
  } catch (thrown) {
    throw packageMissing(thrown, who, packageName)
  }
}

/** Returns the error for a package that was not found. Any other error is returned unchanged. */
export function packageMissing(thrown: unknown, who: string, packageName: string): unknown {
  const { code } = thrown as { code?: unknown }
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return thrown
  const what = `${who} needs a package that is not installed: npm install ${packageName}.`
  return new RuntimeError('PACKAGE_MISSING', what, { cause: thrown })
}
