import { readAnswer } from '../../protocol/checks/readOutput.ts'
import { answerText, valueOf } from '../../protocol/runs/run.ts'
import { textOf } from '../../protocol/messages.ts'
import { whenDone } from '../timing/whenDone.ts'
import { textBlock } from './resultContent.ts'
import { messageOf } from '../../protocol/errors.ts'
import { maxDataBytes, type DataApart, type KeptJson } from '../../protocol/resultData.ts'
import type { AgentPorts } from '../agentPorts.ts'
import type { Outcome } from './outcome.ts'

/** Number of characters that a record shows of data kept beside the log. */
const previewChars = 500

/** Returns the outcome after storing its data and checking whether it may end the run; unchanged if neither applies. */
export function concluded<R extends Outcome>(outcome: R, name: string, ports: AgentPorts): R | Promise<R> {
  const kept = outcome.data === undefined ? outcome : keepData(outcome, name, ports)
  return whenDone(kept, (one) => checkedEnd(one, ports))
}

/** Checks a result that is to end the run against the agent's output schema. If it does not fit, the model is told, and the run goes on. */
function checkedEnd<R extends Outcome>(outcome: R, { definition: { output } }: AgentPorts): R {
  if (outcome.endsRun !== true || output === null) return outcome
  const { endsRun: _, value: __, ...result } = outcome
  const { content, dataApart } = outcome
  const answer =
    dataApart === undefined
      ? readAnswer(output, answerText({ text: textOf(content), ...valueOf(outcome) }))
      : ({ ok: false, wrong: 'it is too large' } as const)
  if (answer.ok) return { ...outcome, answer: true }
  const why = `[This is no answer yet: ${answer.wrong}.]`
  return { ...result, content: [...content, textBlock(why)] } as unknown as R
}

/** Returns the outcome with its data stored: in the record, else beside the log, else only its size. */
async function keepData<R extends Outcome>(outcome: R, name: string, ports: AgentPorts): Promise<R> {
  const text = JSON.stringify(outcome.data)
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxDataBytes) return outcome
  const { data: _, value: __, ...result } = outcome
  return { ...result, dataApart: await apart(bytes, text, name, ports) } as unknown as R
}

/** Keeps JSON beside the log. Rejects if that is not possible. */
export async function keepJson(bytes: Uint8Array, text: string, { agentId, snapshots }: AgentPorts): Promise<KeptJson> {
  const id = await snapshots.put(bytes)
  const artifact = { id, agentId, bytes: bytes.length, mimeType: 'application/json' }
  return { artifact, preview: text.slice(0, previewChars) }
}

/** Reads JSON that was kept beside the log; `undefined` if it is no longer kept. Rejects as the store does. */
export async function readJson({ artifact }: KeptJson, { snapshots }: AgentPorts): Promise<unknown> {
  const bytes = await snapshots.get(artifact.id, artifact.agentId)
  return bytes === undefined ? undefined : JSON.parse(new TextDecoder().decode(bytes))
}

async function apart(bytes: Uint8Array, text: string, name: string, ports: AgentPorts): Promise<DataApart> {
  try {
    return await keepJson(bytes, text, ports)
  } catch (thrown) {
    ports.tellApplication?.(
      `The data of a call of "${name}" is lost: its ${bytes.length} bytes are more than a record holds (${maxDataBytes}), ` +
        `and could not be kept beside the log: ${messageOf(thrown)}`,
    )
    return { lost: bytes.length }
  }
}
