import { execFile } from 'node:child_process'
import { existsSync, realpathSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { AgentSource } from '../../../evaluation/src/suite/defineSuite.ts'
import { asSentence, RuntimeError } from '../../../../src/protocol/errors.ts'

/** The agent of a commit, and a function that removes its files. */
export interface CommitSource {
  readonly source: AgentSource
  /** Notes on the agent for a person, a sentence each. */
  readonly notices: readonly string[]
  remove(): Promise<void>
}

interface Ran {
  readonly ok: boolean
  readonly text: string
}

const git = (args: readonly string[], cwd: string): Promise<Ran> =>
  new Promise((resolve) => {
    // Its words are read here, and what it asks for is never answered.
    const env = { ...process.env, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' }
    execFile('git', [...args], { cwd, env, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ ok: error === null, text: (error === null ? stdout : stderr || error.message).trim() }),
    )
  })

/** Returns true if a folder is in a git repository that has a commit of this name. */
export const isCommit = async (ref: string, cwd: string): Promise<boolean> =>
  (await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`], cwd)).ok

const wrong = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', what)

/**
 * Loads the agent of a commit: puts the commit's files into a temporary folder, with the packages installed here, and loads the module
 * from there. `load` creates the agent from the module at a path.
 *
 * @throws RuntimeError `INVALID_OPTION` for a folder outside git, an unknown commit, and a module that is not in it
 */
export async function commitAgent(
  ref: string,
  file: string,
  load: (file: string) => Promise<AgentSource>,
): Promise<CommitSource> {
  const folder = dirname(file)
  const top = await git(['rev-parse', '--show-toplevel'], folder)
  if (!top.ok)
    throw wrong(`${folder} is not in a git repository, so there is no commit to compare with: ${asSentence(top.text)}`)
  const root = realpathSync(top.text)
  if (!(await isCommit(ref, root))) throw wrong(`There is no commit "${ref}" in ${root}.`)
  const hash = (await git(['rev-parse', '--short', '--end-of-options', `${ref}^{commit}`], root)).text
  const place = relative(root, realpathSync(file))
  const scratch = realpathSync(await mkdtemp(join(tmpdir(), 'escapement-commit-')))
  const tree = join(scratch, 'tree')
  const remove = async (): Promise<void> => {
    await rm(scratch, { recursive: true, force: true })
    await git(['worktree', 'prune'], root)
  }
  try {
    const added = await git(['worktree', 'add', '--detach', '--quiet', tree, hash], root)
    if (!added.ok) throw wrong(`The files of ${ref} (${hash}) could not be put into ${tree}: ${asSentence(added.text)}`)
    linkPackages(root, tree, dirname(place))
    if (!existsSync(join(tree, place)))
      throw wrong(`${place} is not in the commit ${ref} (${hash}): there is no agent to compare with.`)
    const changes = await git(['status', '--porcelain', '--untracked-files=no'], root)
    const same = changes.text === '' && (await git(['rev-parse', '--short', 'HEAD'], root)).text === hash
    const notices = [
      ...(same ? [`Nothing has changed since ${ref} (${hash}): both arms are the same.`] : []),
      ...(changes.text === '' ? [] : [`"after" is the working tree of ${root}, with changes that are not committed.`]),
      `"before" is ${ref} (${hash}).`,
    ]
    return { source: await load(join(tree, place)), notices, remove }
  } catch (thrown) {
    await remove()
    throw thrown
  }
}

/** Links the packages of a repository, and of the folders on the way to a file, since a commit does not contain them. */
function linkPackages(root: string, tree: string, way: string): void {
  const parts = way === '.' ? [] : way.split('/')
  for (let count = 0; count <= parts.length; count++) {
    const below = join('.', ...parts.slice(0, count), 'node_modules')
    const [from, to] = [join(root, below), join(tree, below)]
    if (existsSync(from) && existsSync(dirname(to)) && !existsSync(to)) symlinkSync(from, to, 'dir')
  }
}
