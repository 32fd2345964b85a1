import { changedFiles, testsOf } from './changedFiles.ts'
import type { ImportGraph } from './importGraph.ts'
import type { RunOptions } from './options.ts'
import { filtered, isFull } from './testFiles.ts'

export const counted = (count: number, one: string, several: string): string =>
  `${count} ${count === 1 ? one : several}`

/** The files of a tier. A part of a path asks for a file wherever it belongs, unless the quick ones alone are wanted. */
function ofTier(files: readonly string[], { tier, filters, quick }: RunOptions): readonly string[] {
  if (tier === 'all' || (tier === 'quick' && filters.length > 0 && !quick)) return files
  return files.filter((file) => isFull(file) === (tier === 'rest'))
}

/** The files of a shard: the same on every machine, and each file is in exactly one shard. */
export const ofShard = (files: readonly string[], { shard }: Pick<RunOptions, 'shard'>): readonly string[] =>
  shard === undefined ? files : files.filter((_, at) => at % shard.count === shard.index - 1)

/** The files that are to run, of all there are. Throws when a filter names none of them. */
export function chooseFiles(
  root: string,
  all: readonly string[],
  graph: ImportGraph,
  options: RunOptions,
  print: (line: string) => void,
): readonly string[] {
  const files = ofShard(ofTier(filtered(all, options.filters), options), options)
  return options.changed ? chooseChanged(root, files, graph, print) : files
}

function chooseChanged(
  root: string,
  files: readonly string[],
  graph: ImportGraph,
  print: (line: string) => void,
): readonly string[] {
  const changes = changedFiles(root)
  if (changes.length === 0) {
    print('No file differs from main: nothing to run.')
    return []
  }
  const { tests, unreached } = testsOf(changes, files, graph)
  const differing = counted(changes.length, 'file differs', 'files differ')
  const among = `${tests.length} of ${counted(files.length, 'test file', 'test files')}`
  const reach = tests.length === 1 ? 'reaches' : 'reach'
  print(`${differing} from main; ${among} ${reach} ${changes.length === 1 ? 'it' : 'them'}:`)
  for (const test of tests) print(`  ${test}`)
  if (unreached.length > 0) print(`No test file reaches ${unreached.join(', ')}`)
  return tests
}
