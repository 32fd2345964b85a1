import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { CaseContext } from '../../../test/support/suite.ts'
import type { ChildRequest } from './storeChild.ts'

export interface ChildAnswer {
  readonly ok?: unknown
  readonly code?: string
  readonly message?: string
}

export interface StoreChild {
  readonly pid: number
  ask(request: ChildRequest): Promise<ChildAnswer>
  send(request: ChildRequest): void
  nextAnswer(): Promise<ChildAnswer>
  /** Ends it by a signal that cannot be caught. */
  kill(): Promise<void>
  /** Lets it close its store and end. */
  end(): Promise<void>
}

const script = fileURLToPath(new URL('storeChild.ts', import.meta.url))

/** Starts `storeChild.ts`, killed after the case at the latest; `limitBlocks` is the largest file it may write (`ulimit -f`). */
export async function startStoreChild(
  dir: string,
  { cleanup }: CaseContext,
  { limitBlocks, durability = 'os' }: { readonly limitBlocks?: number; readonly durability?: string } = {},
): Promise<StoreChild> {
  const command = [process.execPath, script, dir, durability]
  const [file = '', ...args] =
    limitBlocks === undefined ? command : ['sh', '-c', `ulimit -f ${limitBlocks} && exec "$@"`, 'sh', ...command]
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()

  const nextAnswer = async (): Promise<ChildAnswer> => {
    const line = await lines.next()
    if (line.done === true) throw new Error('the child process ended without an answer')
    return JSON.parse(line.value)
  }
  const send = (request: ChildRequest): void => void child.stdin.write(`${JSON.stringify(request)}\n`)
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  cleanup(kill)
  await nextAnswer()
  return {
    pid: child.pid ?? 0,
    send,
    nextAnswer,
    kill,
    ask: (request) => {
      send(request)
      return nextAnswer()
    },
    end: async () => {
      child.stdin.end()
      await ended
    },
  }
}
