import { z } from 'zod'
import { artifactSchema, type Artifact } from './artifacts/artifact.ts'
import { lazily } from './lazily.ts'
import type { RecordOf } from './records.ts'

/** Most bytes of a result's data that are kept in its record, as JSON. */
export const maxDataBytes = 65_536

/** Data of a result that is too large for its record: kept beside the log, with its beginning, or lost, with its size in bytes. */
export const dataApartSchema = lazily(() =>
  z.union([z.object({ artifact: artifactSchema(), preview: z.string() }), z.object({ lost: z.int().positive() })]),
)
export type DataApart = z.infer<ReturnType<typeof dataApartSchema>>

/** Fields of `tool.end` with data for the application. No request has them. */
export const resultDataShape = lazily(() => ({
  /** Value of a tool with `output` or `toModel`, joined with what it gave by `give`: JSON of at most 64 kB. */
  data: z.unknown().exactOptional(),
  /** Set in place of `data` that is too large. */
  dataApart: dataApartSchema().exactOptional(),
}))

/** Returns the artifacts that a result names: those that the model may read, and its data. */
export function artifactsOf({ message, dataApart }: RecordOf<'tool.end'>): readonly Artifact[] {
  const named = message.artifacts ?? []
  return dataApart !== undefined && 'artifact' in dataApart ? [...named, dataApart.artifact] : named
}
