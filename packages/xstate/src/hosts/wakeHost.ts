import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import type { HostDefinition } from './hostTypes.ts'
import { hostMachine } from './hostMachine.ts'
import { MachineHost } from './machineHost.ts'
import { hostsIn } from './registry.ts'

/** Opens a machine whose time has come, and closes it once it has nothing more to do, unless somebody listens to it. */
export async function wakeHost(
  runtime: AgentRuntime,
  definition: HostDefinition,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  // One that is open here keeps its times itself.
  if (hostsIn(runtime).has(id)) return
  const host = await hostMachine(runtime, definition, { id })
  try {
    await host.settled({ signal })
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
  if (host instanceof MachineHost && (signal.aborted || !host.isAttended)) await host.close()
}
