import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CaseContext } from '../../../../../test/support/suite.ts'

export interface FakeDocker {
  /** Path of a program that speaks the command line of `docker`, and runs everything on this machine. */
  readonly program: string
  /** A folder that stands for the root of containers. */
  readonly root: string
  /** Folder of programs that go before those of this machine in every container. */
  readonly bin: string
  /** The command lines it was called with. */
  calls(): readonly (readonly string[])[]
  /** Names of the containers that run. */
  containers(): readonly string[]
}

/**
 * Stands for Docker where there is no engine. It keeps the command line, the streams and the lives of processes as the client does: a command leads a
 * session of its own, lives on when its client is killed, and dies with its container. It confines nothing.
 */
export function fakeDocker({ cleanup }: Pick<CaseContext, 'cleanup'>): FakeDocker {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-docker-')))
  const state = join(base, 'containers')
  const [root, bin] = [join(base, 'workspace'), join(base, 'bin')]
  for (const folder of [state, root, bin]) mkdirSync(folder)
  const program = join(base, 'docker')
  const script = new URL('./fakeDockerClient.mjs', import.meta.url).pathname
  const quoted = [process.execPath, script, base].map((word) => `'${word}'`).join(' ')
  writeFileSync(program, `#!/bin/sh\nexec ${quoted} "$@"\n`)
  chmodSync(program, 0o755)
  cleanup(() => rmSync(base, { recursive: true, force: true, maxRetries: 5 }))
  return {
    program,
    root,
    bin,
    calls: () =>
      readFileSync(join(base, 'calls.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as string[]),
    containers: () => readdirSync(state),
  }
}
