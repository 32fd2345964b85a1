import { z } from 'zod'
import { artifactSchema } from './artifacts/artifact.ts'
import { lazily } from './lazily.ts'

/** Maximum number of bytes of a result's data that are kept in its record, as JSON. */
export const maxDataBytes = 65_536

/** JSON that is kept beside the log, with its beginning. */
export const keptJsonSchema = lazily(() => z.object({ artifact: artifactSchema(), preview: z.string() }))
export type KeptJson = z.infer<ReturnType<typeof keptJsonSchema>>

/** Data of a result that is too large for its record: kept beside the log, with its beginning, or lost, with its size in bytes. */
export const dataApartSchema = lazily(() => z.union([keptJsonSchema(), z.object({ lost: z.int().positive() })]))
export type DataApart = z.infer<ReturnType<typeof dataApartSchema>>

/** Fields of `tool.end` with data for the application. No request has them. */
export const resultDataShape = lazily(() => ({
  /** Value from a tool with `output` or `toModel`, merged with the fields passed to `give`: JSON of at most 64 kB. */
  data: z.unknown().exactOptional(),
  /** Set in place of `data` if that is too large. */
  dataApart: dataApartSchema().exactOptional(),
  /** Set if the result ends the run once its step is over. False for a call that could have ended it but failed: the model reads why. */
  endsRun: z.boolean().exactOptional(),
  /** Value of a call that ends the run, if `data` has more fields. */
  value: z.unknown().exactOptional(),
  /** Set if the result ends the run and matches the agent's output schema. */
  answer: z.literal(true).exactOptional(),
}))
