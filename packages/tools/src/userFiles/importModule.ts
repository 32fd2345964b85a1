import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { dirname, extname, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { hasCode, messageOf, RuntimeError, withoutAdvice } from '../../../../src/protocol/errors.ts'

/** Returns a clearer message than the loader's for a file that cannot be a module. */
function wrongFile(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 'does not exist: give the path of a module, such as ./agents.ts'
  if (found.isDirectory()) return 'is a folder: give the path of a module in it, such as ./agents.ts'
  return extname(path) === '.json' ? 'is JSON: give the path of a module, such as ./agents.ts' : undefined
}

/**
 * Imports a module of the user, TypeScript or JavaScript, as Node runs it, and returns its exports.
 *
 * @throws RuntimeError `INVALID_OPTION` that names the file, and the line if it is known.
 */
export async function importModule(path: string): Promise<{ readonly [name: string]: unknown }> {
  const wrong = wrongFile(path)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `${path} ${wrong}.`)
  try {
    return (await import(pathToFileURL(path).href)) as { readonly [name: string]: unknown }
  } catch (thrown) {
    const place = placeOfThrown(thrown, dirname(path)) ?? (await checkedPlace(thrown, path)) ?? path
    const who = place === path ? `${path} could not be loaded` : place
    throw new RuntimeError('INVALID_OPTION', `${who}: ${withoutAdvice(thrown)}.${hintOf(thrown)}`, { cause: thrown })
  }
}

/** Returns `file:line` of the code in the folder that threw; `undefined` if none of it did. */
export const placeOfThrown = (thrown: unknown, folder: string): string | undefined =>
  placeIn(thrown instanceof Error ? (thrown.stack ?? '') : '', folder)

/** Matches the start of a path in a frame: after the name of the function, or after `at`. */
const pathStart = /(?<=\sat |\sasync )(?:file:|\/|[A-Z]:\\)|\((?:file:|\/|[A-Z]:\\)/

/** Returns the place of an error, if it lies in the folder: a parser's error names the place first, an error of code by its frames. */
function placeIn(stack: string, folder: string): string | undefined {
  const places = stack.split('\n').flatMap((line) => {
    const end = /:(\d+)(?::\d+)?\)?$/.exec(line)
    if (end === null) return []
    const before = line.slice(0, end.index)
    const begin = /^\s+at /.test(before) ? before.search(pathStart) : 0
    const at = before.slice(begin).replace(/^\(/, '')
    if (begin === -1 || !/^(?:file:\/\/\S+|(?:\/|[A-Z]:\\)[^:]+)$/.test(at)) return []
    const file = at.startsWith('file://') ? fileURLToPath(at) : at
    const isOurs = file.startsWith(`${folder}${sep}`) && !file.includes(`${sep}node_modules${sep}`)
    return isOurs ? [`${file}:${end[1]}`] : []
  })
  return places[0]
}

/** Returns the place of a syntax error by Node's own check, since an error in JavaScript does not name it. */
async function checkedPlace(thrown: unknown, path: string): Promise<string | undefined> {
  if (!(thrown instanceof SyntaxError) || !/^\.[cm]?js$/.test(extname(path))) return undefined
  const said = await new Promise<string>((resolve) =>
    execFile(process.execPath, ['--check', path], (_error, _stdout, stderr) => resolve(stderr)),
  )
  return placeIn(said, dirname(path))
}

const notStripped =
  'Node runs TypeScript by leaving types out: write what is not erasable, such as enums, in another way.'

function hintOf(thrown: unknown): string {
  if (hasCode(thrown, 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')) return ` ${notStripped}`
  if (hasCode(thrown, 'ERR_UNKNOWN_FILE_EXTENSION'))
    return ` Node ${process.versions.node} runs no TypeScript: take 22.18 or newer.`
  const [, name] = /^Cannot find package '([^']+)'/.exec(messageOf(thrown)) ?? []
  return hasCode(thrown, 'ERR_MODULE_NOT_FOUND') && name !== undefined ? ` Install it: npm install ${name}.` : ''
}
