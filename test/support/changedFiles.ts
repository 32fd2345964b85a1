import { execFileSync } from 'node:child_process'
import type { ImportGraph } from './importGraph.ts'

function git(root: string, ...args: readonly string[]): readonly string[] {
  try {
    const text = execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    return text.split('\0').filter((path) => path !== '')
  } catch (thrown) {
    const { stderr, message } = thrown as Error & { readonly stderr?: string }
    throw new Error(`--changed asks git, which says: ${(stderr ?? message).trim()}`, { cause: thrown })
  }
}

/** The commit the branch left `main` at, here or where it was cloned from; `HEAD` where there is no such branch. */
function base(root: string): string {
  for (const branch of ['main', 'origin/main']) {
    try {
      return git(root, 'merge-base', 'HEAD', branch).join('').trim()
    } catch {
      // There is no such branch.
    }
  }
  return 'HEAD'
}

/** Files that differ from `main`: committed, not yet committed and new ones. Throws outside of a repository. */
export function changedFiles(root: string): readonly string[] {
  // Without a repository some of the others answer otherwise.
  git(root, 'rev-parse', '--git-dir')
  const differing = git(root, 'diff', '--name-only', '--relative', '-z', base(root))
  const untracked = git(root, 'ls-files', '--others', '--exclude-standard', '-z')
  return [...new Set([...differing, ...untracked])].toSorted()
}

/** Tests that read folders whose files they do not name. */
const readers: readonly (readonly [tests: string, read: RegExp])[] = [
  ['test/docs/', /\.md$|^(?:docs|examples|packages|scripts|src|suites|tools)\/|^oxlint\.config\.ts$/],
  ['test/examples/', /^examples\//],
]
/** Files on which all tests depend. */
const everybodys = /^(?:package(?:-lock)?\.json|tsconfig(?:\.doors)?\.json|test\/run\.ts)$/

export interface Choice {
  readonly tests: readonly string[]
  /** Changed files that no test reaches. */
  readonly unreached: readonly string[]
}

/** The test files that reach one of the changed files by what they import, or read it. */
export function testsOf(changed: readonly string[], tests: readonly string[], graph: ImportGraph): Choice {
  const reach = new Map(tests.map((test) => [test, graph.reachedFrom(test)]))
  const isReached = (test: string, file: string): boolean =>
    everybodys.test(file) ||
    reach.get(test)!.has(file) ||
    readers.some(([folder, read]) => test.startsWith(folder) && read.test(file))
  return {
    tests: tests.filter((test) => changed.some((file) => isReached(test, file))),
    unreached: changed.filter((file) => !tests.some((test) => isReached(test, file))),
  }
}
