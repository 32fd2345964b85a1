import { z } from 'zod'
import { lazily } from '../lazily.ts'

/** A value returned by a call and kept in full, apart from the log. */
export const artifactSchema = lazily(() =>
  z.object({
    /** SHA-256 of its bytes, in hexadecimal digits. */
    id: z.string(),
    /** Id of the agent whose log it is stored beside. */
    agentId: z.string(),
    /** Size of the content in bytes, after secrets were removed. */
    bytes: z.int().nonnegative(),
    mimeType: z.string(),
    /** Name of the file, if the artifact is one. */
    name: z.string().exactOptional(),
    /** Number of characters cut out of its middle because the content was too large. */
    lost: z.int().positive().exactOptional(),
  }),
)
export type Artifact = z.infer<ReturnType<typeof artifactSchema>>

export { artifactName, artifactNames } from './artifactNames.ts'
