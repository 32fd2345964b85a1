import type { RemoteWaiting } from './answers.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import type { ClientStatus } from './reconnectingLink.ts'
import type { RosterChange } from './remoteRoster.ts'

interface Options {
  readonly limit?: number
  readonly metadata?: Metadata
}

/** Functions of the client that the watch uses. */
interface Watching {
  readonly status: ClientStatus
  waiting(options: Options): Promise<RemoteWaiting>
  watch(listener: (change: RosterChange) => unknown): () => void
  onStatus(listener: (status: ClientStatus) => unknown): () => void
}

interface Told {
  tell(waiting: RemoteWaiting): void
  failed(thrown: unknown): void
}

/** Reports everything that waits for people. It asks again when running agents' entries change; others change only when an agent starts. */
export function watchWaiting(client: Watching, options: Options, { tell, failed }: Told): () => void {
  const keys = new Map<string, string>()
  let isOver = false
  /** State of the request. `again`: a change has occurred since the request was sent. */
  let asking: 'no' | 'yes' | 'again' = 'no'
  let said: string | undefined
  /** Agents in the previous answer. An agent that was not running may receive a decision just as it starts. */
  let listed: ReadonlySet<string> = new Set()
  const ask = async (): Promise<void> => {
    if (asking !== 'no') {
      asking = 'again'
      return
    }
    asking = 'yes'
    try {
      const waiting = await client.waiting(options)
      const text = JSON.stringify(waiting)
      if (!isOver && text !== said) {
        said = text
        listed = new Set(waiting.waiting.map(({ agentId }) => agentId))
        tell(waiting)
      }
    } catch (thrown) {
      if (!isOver) failed(thrown)
    }
    const isDue = (asking as string) === 'again'
    asking = 'no'
    if (isDue && !isOver) await ask()
  }
  const ends = [
    client.watch(({ agents, gone }) => {
      let isOther = false
      for (const id of gone) {
        if (keys.get(id)) isOther = true
        keys.delete(id)
      }
      for (const { agentId, pending = [] } of agents) {
        const now = pending.join('\n')
        const before = keys.get(agentId)
        if ((before ?? '') !== now || (before === undefined && (asking !== 'no' || listed.has(agentId)))) isOther = true
        keys.set(agentId, now)
      }
      if (isOther) void ask()
    }),
    client.onStatus((status) => {
      if (status === 'open') void ask()
    }),
  ]
  if (client.status !== 'closed') void ask()
  return () => {
    isOver = true
    for (const end of ends) end()
  }
}
