import type { CallOutput } from '../../machines/effectTypes.ts'
import { messageOf } from '../../protocol/errors.ts'
import { maxDataBytes } from '../../protocol/resultData.ts'
import type { AgentPorts } from '../agentPorts.ts'
import type { Outcome } from './outcome.ts'

/** Characters of data beside the log that its record shows. */
const previewChars = 500

/** Returns the outcome with its data where it can stay: in the record, else beside the log, else only its size. */
export async function keepData<R extends Outcome>(outcome: R, name: string, ports: AgentPorts): Promise<R> {
  const text = JSON.stringify(outcome.data)
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxDataBytes) return outcome
  const { data: _, ...result } = outcome
  return { ...result, dataApart: await apart(bytes, text, name, ports) } as unknown as R
}

async function apart(
  bytes: Uint8Array,
  text: string,
  name: string,
  ports: AgentPorts,
): Promise<NonNullable<CallOutput['dataApart']>> {
  try {
    const id = await ports.snapshots.put(bytes)
    const artifact = { id, agentId: ports.agentId, bytes: bytes.length, mimeType: 'application/json' }
    return { artifact, preview: text.slice(0, previewChars) }
  } catch (thrown) {
    ports.tellApplication?.(
      `The data of a call of "${name}" is lost: its ${bytes.length} bytes are more than a record holds (${maxDataBytes}), ` +
        `and could not be kept beside the log: ${messageOf(thrown)}`,
    )
    return { lost: bytes.length }
  }
}
