import { RuntimeError } from '../errors.ts'

/** Loads a module that needs a peer dependency. @throws RuntimeError `PACKAGE_MISSING` if it is not installed; `who` needs it. */
export async function loadPeer<T>(load: () => Promise<T>, who: string, packageName: string): Promise<T> {
  try {
    return await load()
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw thrown
    const what = `${who} needs a package that is not installed: npm install ${packageName}.`
    throw new RuntimeError('PACKAGE_MISSING', what, { cause: thrown })
  }
}
