import { systemClock } from '../protocol/clock.ts'
import type { CliHost } from './cliHost.ts'
import { doubleStop } from './signals.ts'
import type { Session } from './openSession.ts'
import { runPipedChat } from './runPipedChat.ts'

export interface ChatOptions {
  readonly host: CliHost
  readonly json: boolean
  readonly isPriced: boolean
  readonly modelId: string
  /** Approves calls that are already waiting. */
  readonly yes?: boolean
}

/** A chat over a pipe with an agent of this process, as `runPipedChat`. */
export function chatOverPipe({ agent, logFile }: Session, { host, json, isPriced }: ChatOptions): Promise<number> {
  const isDouble = doubleStop(systemClock)
  const chat = {
    agent,
    isPriced,
    ctrlC: 'stop the work; twice, leave',
    farewell: () => `recorded in ${logFile}`,
    policy: () => 'deny' as const,
    isStopping() {
      const isLast = isDouble() || agent.state === 'idle'
      agent.abort()
      return isLast
    },
  }
  return runPipedChat(chat, host, json)
}
