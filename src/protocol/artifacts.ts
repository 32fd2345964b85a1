import { z } from 'zod'

/** Something that a call returned and that is kept whole, apart from the log. */
export const artifactSchema = z.object({
  /** SHA-256 of its bytes, in hexadecimal digits. */
  id: z.string(),
  /** The agent beside whose log it is kept. */
  agentId: z.string(),
  /** Without secrets. */
  bytes: z.int().nonnegative(),
  mimeType: z.string(),
  /** Of a file. */
  name: z.string().exactOptional(),
  /** Characters in its middle that were too many to keep. */
  lost: z.int().positive().exactOptional(),
})
export type Artifact = z.infer<typeof artifactSchema>

/** What models call an artifact: a name like others, so that an index of names has it. */
export const artifactName = ({ id }: Pick<Artifact, 'id'>): string => `artifact_${id.slice(0, 12)}`

/** Names of artifacts in a text. */
export const artifactNames = (text: string): string[] => text.match(/\bartifact_[0-9a-f]{12}\b/g) ?? []
