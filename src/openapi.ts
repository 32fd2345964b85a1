/**
 * The door "escapement/openapi": the operations of a service as tools. Documents of versions before 3.1 need
 * `@scalar/openapi-upgrader`, and documents in YAML need `yaml`.
 */
export { openApiTools, type OpenApiTools } from '../packages/openapi/src/openApiTools.ts'
