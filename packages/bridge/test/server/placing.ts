import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { createRuntime, type Runtime } from '../../src/createRuntime.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { Dispatch } from '../../src/server/dispatch.ts'
import { createdRecord } from '../../../../src/log/readHistory.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'

/** Stand-in for an engine: it has agents work in a process of its own, on the store of the server. */
export interface Placer extends Dispatch {
  /** Where they work now. */
  readonly runtime: Runtime
  /** The commands that came. */
  readonly commands: string[]
  /** Lets go of what works there, as a process that dies does, and goes on in another one. */
  move(): Promise<void>
}

/** `first`: the process in which they work first, such as that of the server. */
export async function placer(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  store: () => Store,
  definitions: readonly AgentDefinition[],
  first?: Runtime,
): Promise<Placer> {
  const byName = new Map(definitions.map((definition) => [definition.name, definition]))
  const commands: string[] = []
  let runtime = first ?? (await createRuntime({ store: store() }))
  cleanup(() => runtime.close().catch(() => {}))
  const agentOf = async (id: string): Promise<Agent> => {
    const known = runtime.agent(id)
    if (known !== undefined) return known
    const created = await createdRecord(store(), id)
    if (created === undefined) throw new RuntimeError('AGENT_NOT_FOUND', `There is no agent "${id}".`)
    return await runtime.open(id, byName.get(created.definition)!)
  }
  return {
    commands,
    get runtime() {
      return runtime
    },
    async command(command, requestId) {
      commands.push(command.type)
      const agent = await agentOf(command.agentId)
      if (await agent.wasAsked(requestId)) return {}
      const run = agent.dispatch(command, { requestId })
      for (const one of [agent, ...agent.children()]) await one.durable()
      return { ended: run?.result.then(() => undefined) }
    },
    async begin({ id, definition, metadata }) {
      const agent = await runtime.spawn(byName.get(definition)!, {
        id,
        ...(metadata === undefined ? {} : { metadata }),
      })
      await agent.durable()
      return agent.lastSeq
    },
    async move() {
      const before = runtime
      const ids = before.agents().map(({ id }) => id)
      await before.close({ detach: true })
      runtime = await createRuntime({ store: store() })
      for (const id of ids) await agentOf(id)
    },
  }
}
