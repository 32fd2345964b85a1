import { caseBook } from './caseBook.ts'
import { asFull, isFull } from './testFiles.ts'

/**
 * Throws in a file of `npm test`, which has to do with what `npm ci` installs: called by each door to something else, such as a browser. A file that
 * is run alone may have all of it.
 */
export function fullOnly(what: string): void {
  const { file } = caseBook()
  if (file === undefined || isFull(file)) return
  throw new Error(`${file} needs ${what}, which npm test does without: call it ${asFull(file)}`)
}
