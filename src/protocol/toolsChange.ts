import { z } from 'zod'
import { lazily } from './lazily.ts'

/** A tool of a source as offered to the model, with the facts that are needed while its source is unavailable. */
export const offeredToolSchema = lazily(() =>
  z.object({
    name: z.string(),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()).readonly(),
    /** Further fields that are sent to models. */
    spec: z.record(z.string(), z.unknown()).readonly().exactOptional(),
    effects: z.enum(['none', 'idempotent', 'reversible', 'irreversible']),
    /** Need for a person's approval of its calls; `maybe` means that it depends on the call. */
    approval: z.enum(['never', 'always', 'maybe']),
    /** Set if the tool polls for something. Repeated calls then do not count as a loop. */
    polls: z.literal(true).exactOptional(),
    /** Set if requests do not list the tool. The model finds it with `find_tools`. */
    deferred: z.literal(true).exactOptional(),
    source: z.string(),
    /** Name of the tool at the source, if another tool already has that name. */
    ownName: z.string().exactOptional(),
  }),
)
export type OfferedToolSpec = z.infer<ReturnType<typeof offeredToolSchema>>

/** Changes in the tools that an agent has from sources, starting with the request of this turn. */
export const toolsChangeSchema = lazily(() =>
  z.object({
    /** New and changed tools. */
    added: z.array(offeredToolSchema()).readonly(),
    removed: z.array(z.string()).readonly(),
    /** New text in the system prompt for each source whose text has changed. An empty text removes it. */
    instructions: z
      .array(z.object({ source: z.string(), text: z.string() }))
      .readonly()
      .exactOptional(),
    /** Faults of a source, or of some of its tools. */
    trouble: z
      .array(z.object({ source: z.string(), message: z.string() }))
      .readonly()
      .exactOptional(),
  }),
)
export type ToolsChange = z.infer<ReturnType<typeof toolsChangeSchema>>

/** State of a source; `idle`: it has not been asked yet. */
export const sourceStateSchema = lazily(() => z.enum(['idle', 'opening', 'up', 'waiting', 'failed', 'closed']))

/** State of a source of an agent's tools, and the tools that the agent has from it. */
export const sourceInfoSchema = lazily(() =>
  z.object({
    source: z.string(),
    /** `idle`: the source has not been asked yet. */
    state: sourceStateSchema(),
    /** Reason why the source is not up, or the tools that were left out. */
    trouble: z.string().exactOptional(),
    /** Names of the source's tools as the agent's last request offered them. */
    tools: z.array(z.string()).readonly(),
  }),
)
export type SourceInfo = z.infer<ReturnType<typeof sourceInfoSchema>>
