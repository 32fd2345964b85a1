import { readFileSync } from 'node:fs'
import { placeOfKey } from './placeOfKey.ts'

/** Returns a configuration key with its file and, if it is written there, its line: `…/escapement.config.ts:4: models.fast`. */
export function keyInFile(file: string, path: readonly string[]): string {
  const line = placeOfKey(readFileSync(file, 'utf8'), path)
  return `${file}${line === undefined ? '' : `:${line}`}: ${path.join('.')}`
}
