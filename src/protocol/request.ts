import { z } from 'zod'
import { blockSchema } from './messages.ts'
import type { RequestMessage, ToolSpec } from './model.ts'

/** Checks a value and gives it back as it is, field for field in its own order: what was sent is kept byte for byte. */
const asItIs = <T>(schema: z.ZodType): z.ZodType<T, T> => z.custom<T>((value) => schema.safeParse(value).success)

const content = z.array(blockSchema)

export const requestMessageSchema = asItIs<RequestMessage>(
  z.discriminatedUnion('role', [
    z.object({ role: z.literal('user'), content }),
    z.object({ role: z.literal('assistant'), content }),
    z.object({
      role: z.literal('toolResult'),
      callId: z.string(),
      toolName: z.string(),
      content,
      isError: z.boolean(),
    }),
  ]),
)

export const toolSpecSchema = asItIs<ToolSpec>(
  z.object({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) }),
)

/** A model and its settings, without what is passed through to the provider: that may hold secrets. */
export const modelSnapshotSchema = z.object({
  id: z.string(),
  settings: z.record(z.string(), z.unknown()).readonly().exactOptional(),
})
export type ModelSnapshot = z.infer<typeof modelSnapshotSchema>
