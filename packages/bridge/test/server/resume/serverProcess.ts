import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { fileStore } from '../../../../stores/src/fileStore.ts'
import { freePort } from '../../../../../test/support/freePort.ts'
import type { CaseContext } from '../../../../../test/support/suite.ts'
import { storeFolder } from '../../../../stores/test/storeFolder.ts'

const looking = fileURLToPath(new URL('serveChild.ts', import.meta.url))

/** A server in a process of its own, on one port and one folder through all its lives. */
export interface ServerProcess {
  readonly url: string
  readonly lives: number
  /** Process id of the life under way. */
  readonly pid: number | undefined
  /** Ends it by a signal that cannot be caught. */
  kill(): Promise<void>
  /** Starts the next one. */
  start(): Promise<void>
  killAndStart(): Promise<void>
  /** The log of an agent, as it is in the folder. */
  log(agentId: string): Promise<LogRecord[]>
}

/** Starts one; it is killed after the case. `origin` is that of pages that may connect, `script` what is run for each life. */
export async function startServerProcess(
  context: Pick<CaseContext, 'cleanup'>,
  origin?: string,
  script: string = looking,
): Promise<ServerProcess> {
  const { dir } = await storeFolder(context)
  // A server that is started again needs one that stays.
  const port = await freePort()
  let child: ChildProcess | undefined
  let lives = 0

  const kill = async (): Promise<void> => {
    if (child === undefined) return
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
    child.kill('SIGKILL')
    await ended
  }
  const start = async (): Promise<void> => {
    lives += 1
    const args = [script, dir, String(port), ...(origin === undefined ? [] : [origin])]
    child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [output] = (await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')])) as [unknown]
    if (!String(output).startsWith('ready')) throw new Error(`the server ended with ${String(output)}`)
  }
  context.cleanup(kill)
  await start()
  return {
    url: `ws://127.0.0.1:${port}/bridge`,
    get lives() {
      return lives
    },
    get pid() {
      return child?.pid
    },
    kill,
    start,
    async killAndStart() {
      await kill()
      await start()
    },
    async log(agentId) {
      const store = fileStore(dir)
      const records: LogRecord[] = []
      for await (const record of store.read(agentId)) records.push(record)
      await store.close()
      return records
    },
  }
}
