import { z } from 'zod'
import { isAgentDefinition, noDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { isAiSdkModel } from '../../../ai-sdk/src/adapters/isAiSdkModel.ts'
import { modelLimitsSchema } from '../../../runtime/src/limits/modelLimit.ts'
import { skillFoldersSchema } from '../../../../src/actors/parts/skills/skillPart.ts'
import { toolEntriesSchema } from '../../../../src/actors/define/toolEntries.ts'
import { serverSchema } from '../../../mcp/src/client/options.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { limitsSchema } from '../../../../src/protocol/runs/runLimits.ts'
import type { Config, ConfigGateway, ConfigModel, ConfigServe, ConfigWorker } from '../defineConfig.ts'
import { storeForms } from './storePlace.ts'

/** Returns a schema with these optional fields and no others. */
const fields = (shape: z.ZodRawShape): z.ZodType => onlyFields(shape).partial()

const model = z.custom<ConfigModel>(
  (value) =>
    (typeof value === 'string' && value !== '') ||
    isAiSdkModel(value) ||
    typeof (value as Partial<Model> | undefined)?.stream === 'function',
  'give "provider:id", a name of models, or a model',
)

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** Schemas of the fields of `ConfigServe`; `runtime.serve` checks their contents. */
const serveFields: { readonly [K in keyof Required<ConfigServe>]: z.ZodType } = {
  port: z.int().min(0).max(65_535),
  host: z.string().min(1),
  tokens: z.looseObject({}),
  authenticate: z.custom(isFunction, 'give a function'),
  base: z.string(),
  path: z.string(),
  role: z.string(),
  origins: z.array(z.string()),
  deps: z.custom(isFunction, 'give a function'),
  endpoints: z.array(z.unknown()),
  inspector: z.union([z.boolean(), z.looseObject({})]),
  shareKey: z.string(),
  gatewaySecret: z.string(),
  dispatch: z.looseObject({}),
  advertise: z.union([z.string(), z.literal(false)]),
  limits: z.looseObject({}),
  acp: z.boolean(),
  agUi: z.boolean(),
  mcp: z.boolean(),
  stately: z.boolean(),
}

/** Schemas of the fields of `ConfigWorker` and `ConfigGateway`, whose contents the worker and the gateway check. */
const workerFields: { readonly [K in keyof Required<ConfigWorker>]: z.ZodType } = {
  warm: z.int().nonnegative(),
  inactivityMs: z.number().positive(),
  idempotencyMs: z.number().positive(),
  deps: z.custom(isFunction, 'give a function'),
  tracer: z.looseObject({}),
  tenants: z.looseObject({}),
  drainMs: z.number().nonnegative(),
  limits: z.looseObject({}),
  endpoints: z.array(z.unknown()),
}
const gatewayFields: { readonly [K in keyof Required<ConfigGateway>]: z.ZodType } = {
  tokens: z.looseObject({}),
  authenticate: z.custom(isFunction, 'give a function'),
  base: z.string(),
  path: z.string(),
  role: z.string(),
  origins: z.array(z.string()),
  inspector: z.union([z.boolean(), z.looseObject({})]),
  shareKey: z.string(),
  limits: z.looseObject({}),
  endpoints: z.array(z.string()),
  workers: z.custom(isFunction, 'give a function'),
  place: z.custom(isFunction, 'give a function'),
  store: z.looseObject({}),
}

const configFields = (): { readonly [K in keyof Required<Config>]: z.ZodType } => ({
  agents: z.array(
    z.custom((value) => isAgentDefinition(value) || isFunction(value), {
      error: noDefinition('give what defineAgent returns, or a function that does'),
    }),
  ),
  model,
  models: z.record(z.string().regex(/^[^:]+$/, 'a name has no ":"'), model),
  tools: toolEntriesSchema(),
  skills: skillFoldersSchema(),
  agentsMd: z.boolean(),
  mcp: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'use 1 to 32 letters, digits, "_" or "-"'), serverSchema()),
  limits: limitsSchema(),
  store: z.string(`give ${storeForms}`).min(1, `give ${storeForms}`),
  memory: z.string('give a folder or a file').min(1, 'give a folder or a file'),
  redact: z.looseObject({}),
  modelLimits: modelLimitsSchema(),
  serve: fields(serveFields),
  worker: fields(workerFields),
  gateway: fields(gatewayFields),
  postgres: z.looseObject({}),
})

/** Schema of a configuration. */
export const configSchema = lazily(() => fields(configFields()))
