import { z } from 'zod'
import { lazily } from '../../../protocol/lazily.ts'
import { onlyFields } from '../../../protocol/checks/onlyFields.ts'
import { withoutUndefined } from '../../define/withoutUndefined.ts'

/** Options for which results are kept in full, and up to which size. */
export interface ArtifactOptions {
  /** Number of characters above which a text of a result is kept, and shown with its middle left out. Default: the tool's `maxOutputChars`. */
  readonly overChars?: number
  /** Size in bytes above which an image or file of a result is kept, and named in its place. Default 5 MiB. */
  readonly overMediaBytes?: number
  /** Maximum size of one kept text, image or file, in bytes. Default 16 MiB; the store's `maxFileBytes` is a limit too. */
  readonly maxBytes?: number
}

export interface ArtifactOption {
  /**
   * Keeps results that are too large to show whole, beside the log: the model sees their ends and reads on with the tool `read_artifact`.
   * `true` keeps texts of more than a tool's `maxOutputChars` and images and files of more than 5 MiB. Default `false`.
   */
  readonly artifacts?: boolean | ArtifactOptions
}

export interface ArtifactSetting {
  /** Set when results that are too large to show are kept whole. */
  readonly artifacts: ArtifactSettings | null
}

interface ArtifactSettings {
  /** `null`: the limit of each tool. */
  readonly overChars: number | null
  readonly overMediaBytes: number
  readonly maxBytes: number
}

const mib = 1024 * 1024

export const artifactOptionsSchema = lazily(() =>
  z.union([
    z.boolean(),
    onlyFields({
      overChars: z.int().min(1_000, 'at least 1,000: the model should see something of a result'),
      overMediaBytes: z.int().positive(),
      maxBytes: z.int().min(1_000),
    }).partial(),
  ]),
)

export function artifactSettings(given: boolean | ArtifactOptions | undefined): ArtifactSettings | null {
  if (given === undefined || given === false) return null
  const options = given === true ? {} : withoutUndefined(given)
  return { overChars: null, overMediaBytes: 5 * mib, maxBytes: 16 * mib, ...options }
}
