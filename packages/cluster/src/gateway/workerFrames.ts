import { z } from 'zod'
import { agentIdSchema } from '../../../../src/protocol/ids.ts'
import { serverFrames } from '../../../wire/src/frames.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { metadataSchema } from '../../../../src/protocol/metadata.ts'

/** Maximum number of agents that a worker lists at a time, and maximum length of an entry, in characters of JSON. */
export const pageSize = 1_000
const entryChars = 64 * 1024

/** An agent as a worker lists it; other fields are passed on to the client, which checks them. */
const listedSchema = lazily(() =>
  z
    .looseObject({
      agentId: agentIdSchema(),
      seq: z.int().nonnegative(),
      path: z.array(z.string()).readonly(),
      metadata: metadataSchema().exactOptional(),
    })
    .refine((entry) => JSON.stringify(entry).length <= entryChars, 'an entry is too long'),
)
export type Listed = z.infer<ReturnType<typeof listedSchema>> & { readonly worker?: string }

const listSchema = lazily(() => z.looseObject({ agents: z.array(listedSchema()).max(pageSize) }))

/** A frame from a worker, with the fields that the gateway reads. */
export interface WorkerFrame {
  readonly type: string
  readonly id?: string
  readonly agentId?: string
  readonly seq?: number
  readonly live?: boolean
  readonly code?: string
  readonly message?: string
  readonly result?: unknown
  readonly definitions?: readonly string[]
  readonly descriptions?: Readonly<Record<string, string>>
}

/** Returns the frames in a message; `undefined` if it contains anything else. Unknown types are allowed. */
export function framesIn(message: string): WorkerFrame[] | undefined {
  try {
    const value: unknown = JSON.parse(message)
    const frames = Array.isArray(value) ? (value as unknown[]) : [value]
    return frames.every(isFrame) ? frames : undefined
  } catch {
    return undefined
  }
}

function isFrame(value: unknown): value is WorkerFrame {
  if (typeof value !== 'object' || value === null) return false
  const { type } = value as { readonly type?: unknown }
  if (typeof type !== 'string') return false
  return !Object.hasOwn(serverFrames.makers, type) || serverFrames.safeParse(value).success
}

/** Returns the agents in an answer to `agent.list`; `undefined` for any other frame. */
export function listedIn({ type, result }: WorkerFrame): readonly Listed[] | undefined {
  const list = type === 'ok' ? listSchema().safeParse(result) : undefined
  return list?.data?.agents
}
