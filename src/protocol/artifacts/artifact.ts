import { z } from 'zod'
import { lazily } from '../lazily.ts'

/** A value that a call returned and that is kept whole, apart from the log. */
export const artifactSchema = lazily(() =>
  z.object({
    /** SHA-256 of its bytes, in hexadecimal digits. */
    id: z.string(),
    /** The agent beside whose log it is kept. */
    agentId: z.string(),
    /** Size of the content without secrets, in bytes. */
    bytes: z.int().nonnegative(),
    mimeType: z.string(),
    /** Name of the file, if the artifact is one. */
    name: z.string().exactOptional(),
    /** Number of characters in its middle that were too many to keep. */
    lost: z.int().positive().exactOptional(),
  }),
)
export type Artifact = z.infer<ReturnType<typeof artifactSchema>>

export { artifactName, artifactNames } from './artifactNames.ts'
