import { z } from 'zod'
import { revertCategorySchema } from './braking.ts'
import { agentIdSchema } from './ids.ts'
import { imageBlock, wrongInImage } from './imageBlock.ts'
import { plainBlockSchema } from './messages.ts'
import { limitsSchema, type Limits } from './records.ts'
import { provenanceKindSchema, type ProvenanceKind } from './provenance.ts'
import { wrongInContent } from './wrongInContent.ts'

/** Longest text of one message, in UTF-16 units, and the most base64 of its images. */
export const maxContentChars = 32 * 1024 * 1024

const measured = (blocks: readonly z.infer<typeof plainBlockSchema>[]): number =>
  blocks.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : block.data.length), 0)

const saidBlockSchema = plainBlockSchema
  .refine((block) => block.type === 'text' || wrongInImage(block.data) === undefined, {
    error: ({ input }) => wrongInImage((input as { readonly data?: unknown }).data) ?? '',
  })
  .transform((block) => (block.type === 'text' ? block : imageBlock(block.data, block.mimeType)))

/** What a person says to an agent: a string, or blocks of text and images; not blank, not larger than `maxContentChars`. */
export const contentSchema = z
  .union([z.string().transform((text) => [{ type: 'text' as const, text }]), z.array(saidBlockSchema)], {
    error: ({ input }) => wrongInContent(input),
  })
  .refine((blocks) => blocks.some((block) => (block.type === 'image' ? block.data !== '' : block.text.trim() !== '')), {
    message: 'the content is empty: give some text or an image',
  })
  .refine((blocks) => measured(blocks) <= maxContentChars, {
    message: `the content is larger than ${maxContentChars} characters: pass a file path and a tool that reads it`,
  })
  .transform((blocks) => blocks.filter((block) => (block.type === 'image' ? block.data !== '' : block.text !== '')))

const toAgent = { agentId: agentIdSchema }

const said = {
  ...toAgent,
  content: contentSchema,
  /** Where it comes from, when it is not a person's own words: see `turn.request`. */
  provenance: provenanceKindSchema.exactOptional(),
  /** Messages that go before it, each with its own provenance. */
  context: z
    .array(z.strictObject({ content: contentSchema, provenance: provenanceKindSchema.exactOptional() }))
    .max(1_000)
    .exactOptional(),
}

/** What may be asked of an agent, in-process or over a wire. */
export const agentCommandSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...said,
    type: z.literal('agent.prompt'),
    limits: limitsSchema.exactOptional(),
  }),
  z.strictObject({
    ...said,
    type: z.literal('agent.interrupt'),
    limits: limitsSchema.exactOptional(),
  }),
  z.strictObject({ ...said, type: z.literal('agent.steer') }),
  z.strictObject({ ...said, type: z.literal('agent.followUp') }),
  z.strictObject({ ...toAgent, type: z.literal('agent.abort') }),
  z.strictObject({ ...toAgent, type: z.literal('agent.resume'), limits: limitsSchema.exactOptional() }),
  z.strictObject({ ...toAgent, type: z.literal('agent.stop') }),
  z.strictObject({
    ...toAgent,
    type: z.literal('agent.revert'),
    step: z.string(),
    category: revertCategorySchema,
    summary: z.string().exactOptional(),
  }),
  z.strictObject({
    ...toAgent,
    type: z.literal('agent.decide'),
    callId: z.string(),
    decision: z.enum(['approve', 'deny']),
    reason: z.string().exactOptional(),
  }),
])
export type AgentCommand = z.input<typeof agentCommandSchema>
export type Content = z.input<typeof contentSchema>

/** What goes with something said to an agent. */
export interface SayOptions {
  /** Where it comes from, when it is not a person's own words: it stands so in the provenance of `turn.request`. */
  readonly provenance?: ProvenanceKind | undefined
  /** Messages that go before it, such as memories the application looked up. */
  readonly context?: readonly { readonly content: Content; readonly provenance?: ProvenanceKind }[] | undefined
}

export interface RunOptions extends SayOptions {
  /** Allowances of this run, over those of the agent. */
  readonly limits?: Limits | undefined
}

/** The options that were given; unknown ones too, so that the command's schema names them. */
export const given = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
