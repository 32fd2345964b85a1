import { z } from 'zod'
import { lazily } from '../lazily.ts'
import { plainBlockSchema } from '../messages.ts'
import { provenanceKindSchema } from '../provenance.ts'
import { limitsSchema } from './runLimits.ts'

/** A message placed before a person's message, such as a memory the application looked up. */
export const contextMessageSchema = lazily(() =>
  z.object({
    content: z.array(plainBlockSchema()).readonly(),
    provenance: provenanceKindSchema().exactOptional(),
  }),
)
export type ContextMessage = z.infer<ReturnType<typeof contextMessageSchema>>

export const queuedMessageSchema = lazily(() =>
  z.object({
    id: z.string(),
    ...contextMessageSchema().shape,
    context: z.array(contextMessageSchema()).readonly().exactOptional(),
    /** Limits of a prompt's run. */
    limits: limitsSchema().exactOptional(),
  }),
)
export type QueuedMessage = z.infer<ReturnType<typeof queuedMessageSchema>>

export const queueNameSchema = lazily(() => z.enum(['steering', 'followUps', 'prompts']))
export type QueueName = z.infer<ReturnType<typeof queueNameSchema>>
