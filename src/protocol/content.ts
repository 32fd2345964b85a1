import { z } from 'zod'
import { lazily } from './lazily.ts'
import { textBlockSchema, type FileBlock, type ImageBlock } from './messages.ts'
import {
  charsOf,
  fileOf,
  imageOf,
  maxContentChars,
  measured,
  saidNothing,
  saidTooMuch,
  saysSomething,
  wrongInContent,
  wrongInFile,
  wrongInImage,
  type SaidFile,
  type SaidImage,
} from './text/saidContent.ts'

const bytesSchema = lazily(() =>
  z
    .custom<string | Uint8Array>((value) => typeof value === 'string' || value instanceof Uint8Array)
    .meta({ type: 'string' }),
)

const saidImageSchema = lazily(
  () =>
    z
      .object({
        type: z.literal('image'),
        data: bytesSchema().exactOptional(),
        url: z.string().exactOptional(),
        mimeType: z.string().exactOptional(),
      })
      .refine((image) => wrongInImage(image) === undefined)
      .transform((image) => imageOf(image as SaidImage)) as unknown as z.ZodType<ImageBlock, SaidImage>,
)

const saidFileSchema = lazily(
  () =>
    z
      .object({ type: z.literal('file'), data: bytesSchema(), mimeType: z.string(), name: z.string().exactOptional() })
      .refine((file) => wrongInFile(file) === undefined)
      .transform((file) => fileOf(file)) as z.ZodType<FileBlock, SaidFile>,
)

const saidBlockSchema = lazily(() => z.union([textBlockSchema(), saidImageSchema(), saidFileSchema()]))
/** A message to an agent: a string, or blocks of text, images and files; not blank, and not larger than `maxContentChars`. */
export const contentSchema = lazily(() =>
  z
    .union([z.string().transform((text) => [{ type: 'text' as const, text }]), z.array(saidBlockSchema())], {
      error: ({ input }) => wrongInContent(input),
    })
    .refine((blocks) => blocks.some(saysSomething), {
      message: saidNothing,
    })
    .refine((blocks) => measured(blocks) <= maxContentChars, {
      message: saidTooMuch,
    })
    .transform((blocks) => blocks.filter((block) => charsOf(block) > 0)),
)
