/**
 * The door "escapement/openapi": the operations of a service as tools. Documents of versions before 3.1 need `@scalar/openapi-upgrader`, those in YAML
 * `yaml`.
 */
export { openApiTools, type OpenApiTools } from './openapi/openApiTools.ts'
export type { OpenApiOperation, OpenApiOptions } from './openapi/options.ts'
export type { OperationPattern } from './openapi/choices.ts'
export type { AuthByScheme, OpenApiAuth } from './openapi/security.ts'
