import { z } from 'zod'
import { mistakesOf } from '../../../src/protocol/checks/mistakes.ts'
import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import { below, DocumentProblem, type Part } from './references.ts'

/** Schemas for the parts of a document that are used. Other parts are ignored. */
const text = z.string().optional()
const schema = z.union([z.boolean(), z.record(z.string(), z.unknown())], 'a schema is an object, true or false')

const mediaTypeSchema = z.looseObject({
  schema: schema.optional(),
  encoding: z
    .record(
      z.string(),
      z.looseObject({
        contentType: text,
        style: z.enum(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']).optional(),
        explode: z.boolean().optional(),
        allowReserved: z.boolean().optional(),
      }),
    )
    .optional(),
})
export type MediaType = z.infer<typeof mediaTypeSchema>

const contentSchema = z.record(z.string(), mediaTypeSchema)

export const parameterSchema = z.looseObject({
  name: z.string().min(1),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  description: text,
  required: z.boolean().optional(),
  style: z.enum(['simple', 'label', 'matrix', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject']).optional(),
  explode: z.boolean().optional(),
  allowReserved: z.boolean().optional(),
  schema: schema.optional(),
  content: contentSchema.optional(),
})
export type Parameter = z.infer<typeof parameterSchema>

export const requestBodySchema = z.looseObject({
  description: text,
  required: z.boolean().optional(),
  content: contentSchema,
})
export type RequestBody = z.infer<typeof requestBodySchema>

const serverSchema = z.looseObject({
  url: z.string(),
  variables: z.record(z.string(), z.looseObject({ default: z.string() })).optional(),
})
export type Server = z.infer<typeof serverSchema>

/** Security schemes of one alternative, all of which are needed. */
const requirementSchema = z.record(z.string(), z.array(z.string()))
export type Requirement = z.infer<typeof requirementSchema>

export const operationSchema = z.looseObject({
  operationId: text,
  summary: text,
  description: text,
  deprecated: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
  parameters: z.array(z.unknown()).optional(),
  requestBody: z.unknown().optional(),
  responses: z.record(z.string(), z.unknown()).optional(),
  servers: z.array(serverSchema).optional(),
  security: z.array(requirementSchema).optional(),
})
export type Operation = z.infer<typeof operationSchema>

export const pathItemSchema = z.looseObject({
  parameters: z.array(z.unknown()).optional(),
  servers: z.array(serverSchema).optional(),
})

export const securitySchemeSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('apiKey'), name: z.string().min(1), in: z.enum(['header', 'query', 'cookie']) }),
  z.looseObject({ type: z.literal('http'), scheme: z.string().min(1) }),
  z.looseObject({ type: z.literal('oauth2') }),
  z.looseObject({ type: z.literal('openIdConnect') }),
  z.looseObject({ type: z.literal('mutualTLS') }),
])
export type SecurityScheme = z.infer<typeof securitySchemeSchema>

export const documentSchema = z.looseObject({
  info: z.looseObject({ title: text }).optional(),
  servers: z.array(serverSchema).optional(),
  security: z.array(requirementSchema).optional(),
  paths: z.record(z.string(), z.unknown()).default({}),
  components: z.looseObject({ securitySchemes: z.record(z.string(), z.unknown()).optional() }).optional(),
})
export type Document = z.infer<typeof documentSchema>

/**
 * Reads a part of a document.
 *
 * @throws DocumentProblem naming the place of the fault
 */
export function read<T>(shape: z.ZodType<T>, { value, at }: Part): T {
  const result = shape.safeParse(value)
  if (result.success) return result.data
  const [mistake] = mistakesOf(result.error)
  throw new DocumentProblem(below(at, ...mistake!.path.map(String)), cutEnd(mistake!.message, 300))
}
