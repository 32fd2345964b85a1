import { z } from 'zod'
import { lazily } from './lazily.ts'

/** A tool of a source as the model is offered it, and what must be known of it when its source is not there. */
export const offeredToolSchema = lazily(() =>
  z.object({
    name: z.string(),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()).readonly(),
    /** Fields that models are sent in addition to these. */
    spec: z.record(z.string(), z.unknown()).readonly().exactOptional(),
    effects: z.enum(['none', 'idempotent', 'reversible', 'irreversible']),
    /** Whether a person must approve its calls; `maybe`: it depends on the call. */
    approval: z.enum(['never', 'always', 'maybe']),
    /** It waits for something: the same call again is no loop. */
    polls: z.literal(true).exactOptional(),
    source: z.string(),
    /** Its name at the source, where another tool has that name already. */
    ownName: z.string().exactOptional(),
  }),
)
export type OfferedToolSpec = z.infer<ReturnType<typeof offeredToolSchema>>

/** What changed of the tools that sources have for an agent, from the request of this turn on. */
export const toolsChangeSchema = lazily(() =>
  z.object({
    /** New ones, and those that are no longer as they were. */
    added: z.array(offeredToolSchema()).readonly(),
    removed: z.array(z.string()).readonly(),
    /** What the system prompt says of a source from now on, where that changed; an empty text: nothing. */
    instructions: z
      .array(z.object({ source: z.string(), text: z.string() }))
      .readonly()
      .exactOptional(),
    /** What is wrong with a source, or with some of its tools. */
    trouble: z
      .array(z.object({ source: z.string(), message: z.string() }))
      .readonly()
      .exactOptional(),
  }),
)
export type ToolsChange = z.infer<ReturnType<typeof toolsChangeSchema>>

/** How a source is; `idle`: nobody has asked it yet. */
export const sourceStateSchema = lazily(() => z.enum(['idle', 'opening', 'up', 'waiting', 'failed', 'closed']))

/** How a source of an agent's tools is, and what the agent has of it. */
export const sourceInfoSchema = lazily(() =>
  z.object({
    source: z.string(),
    /** `idle`: nobody has asked it yet. */
    state: sourceStateSchema(),
    /** Why it is not up, or what was left out. */
    trouble: z.string().exactOptional(),
    /** Names of its tools as the agent's last request offered them. */
    tools: z.array(z.string()).readonly(),
  }),
)
export type SourceInfo = z.infer<ReturnType<typeof sourceInfoSchema>>
