import { readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside } from '../../../tools/src/files/isInside.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { filesBelow } from '../suite/taskFiles.ts'
import type { Task } from '../suite/task.ts'

/** A task converted from another benchmark. */
export interface ImportedTask {
  readonly task: Task
  /** Files for `files/`, by path; `check`: files for `check/`. */
  readonly files?: ReadonlyMap<string, ImportedFile>
  readonly check?: ReadonlyMap<string, ImportedFile>
}

/** Content of a file: a text, the path it is copied from, or (`link`) the target of a symbolic link. */
export type ImportedFile = { readonly text: string } | { readonly from: string } | { readonly link: string }

/** A suite converted from a benchmark by an importer. */
export interface Imported {
  readonly tasks: readonly ImportedTask[]
  /** The suite's module, if it needs one. */
  readonly module?: string
  /** Further files of the suite, by path. */
  readonly others?: ReadonlyMap<string, string>
  /** Preparations needed before the suite can run: commands or sentences. */
  readonly needs: readonly string[]
  /** Parts of the benchmark that are not converted, and differences from its own harness. */
  readonly differs: readonly string[]
}

/**
 * Makes a suite from a benchmark that the user has fetched.
 *
 * @throws RuntimeError `INVALID_OPTION` naming the mistake in the file or folder.
 */
export interface Importer {
  /** Full name of the benchmark. */
  readonly title: string
  /** Description of the file or folder at `path`, and of its source. */
  readonly wants: string
  read(path: string): Promise<Imported>
}

export const wrong = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', what)

export const kindOf = async (path: string): Promise<'file' | 'folder' | undefined> => {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true ? 'file' : found?.isDirectory() === true ? 'folder' : undefined
}

/**
 * Returns the real path of a file or folder of a benchmark; `undefined` if it is not there. A clone may contain links, which may lead to anybody's
 * files.
 *
 * @throws RuntimeError `INVALID_OPTION` if the real path is outside the benchmark
 */
export async function placeWithin(root: string, path: string): Promise<string | undefined> {
  const place = await realpath(join(root, path)).catch(() => undefined)
  if (place === undefined || isInside(await realpath(root), place)) return place
  throw wrong(`${join(root, path)} leads to ${place}, outside ${root}: a benchmark brings its own files.`)
}

/** Reads the text of a file of a benchmark; `undefined` if it cannot be read. @throws as `placeWithin` */
export async function textWithin(root: string, path: string): Promise<string | undefined> {
  const place = await placeWithin(root, path)
  return place === undefined ? undefined : readFile(place, 'utf8').catch(() => undefined)
}

/** Returns the files below a folder of a benchmark, by their paths in it; none if there is no such folder. @throws as `placeWithin` */
export async function filesWithin(
  root: string,
  path: string,
  skip?: (path: string) => boolean,
): Promise<Map<string, ImportedFile>> {
  const place = await placeWithin(root, path)
  const files = place === undefined ? [] : await filesBelow(place, skip)
  return new Map(files.map(({ path: at, ...file }) => [at, file]))
}

/** Reads the rows of a file of JSON lines, or of a JSON array. @throws RuntimeError `INVALID_OPTION` naming the line. */
export async function readRows(file: string, wants: string): Promise<readonly unknown[]> {
  const source = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw wrong(`${file} cannot be read: ${messageOf(thrown)}. It should be ${wants}.`)
  })
  if (source.startsWith('PAR1')) throw wrong(`${file} is a Parquet file: it should be ${wants}.`)
  if (source.trimStart().startsWith('[')) {
    try {
      return JSON.parse(source) as unknown[]
    } catch (thrown) {
      throw wrong(`${file} is not JSON: ${messageOf(thrown)}. It should be ${wants}.`)
    }
  }
  return source.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    try {
      return [JSON.parse(line) as unknown]
    } catch {
      throw wrong(`${file}:${at + 1}: this line is not JSON. It should be ${wants}.`)
    }
  })
}

/** Makes an id of a task from its name in a benchmark. */
export const idOf = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64)
