import { realpathSync, statSync, type Stats } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isInside } from '../../../tools/src/files/isInside.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'

/** File names of a configuration, in search order. */
export const configNames = ['ts', 'mts', 'js', 'mjs'].map((ending) => `escapement.config.${ending}`)

/** Facts about the machine that the search needs. */
export interface Surroundings {
  readonly home: string
  /** Id of the user; `undefined` where files have no owner. */
  readonly uid: number | undefined
}

const surroundings = (): Surroundings => ({ home: homedir(), uid: uidOf(userInfo().uid) })

/** Converts a user id; `undefined` on Windows, which has none. */
const uidOf = (uid: number): number | undefined => (uid < 0 ? undefined : uid)

const statOf = (path: string): Stats | undefined => {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/**
 * Finds the configuration for a folder: in it, or in a folder above it, up to the root of its repository, or else up to the user's home. Elsewhere,
 * only the folder itself is searched, since others may have put files above it.
 *
 * @throws RuntimeError `INVALID_OPTION` if one found above belongs to another user, because it would be executed.
 */
export function findConfig(folder: string, { home, uid } = surroundings()): string | undefined {
  const start = realFolder(folder)
  for (const place of foldersFrom(start, realFolder(home))) {
    for (const name of configNames) {
      const file = join(place, name)
      const stats = statOf(file)
      if (stats?.isFile() !== true) continue
      if (place !== start && uid !== undefined && stats.uid !== uid && stats.uid !== 0)
        throw new RuntimeError(
          'INVALID_OPTION',
          `${file} belongs to another user: name it with --config if it is to be run.`,
        )
      return file
    }
  }
  return undefined
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return resolve(folder)
  }
}

/** Returns the folders to search, from the given one upwards. */
function foldersFrom(start: string, home: string): readonly string[] {
  const above: string[] = []
  for (let place = start; ; place = dirname(place)) {
    above.push(place)
    if (statOf(join(place, '.git')) !== undefined) return above
    if (dirname(place) === place) break
  }
  return isInside(home, start) ? above.filter((place) => isInside(home, place)) : [start]
}
