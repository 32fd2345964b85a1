import { join } from 'node:path'
import { defineConfig } from 'oxlint'
import { layerRules } from './scripts/layers.ts'

const forbid = (message: string, names: readonly string[], property: { object: string; property: string }) => ({
  'no-restricted-globals': ['error', { checkGlobalObject: true, globals: names.map((name) => ({ name, message })) }],
  'no-restricted-properties': ['error', { ...property, message }],
})

// oxlint-disable-next-line import/no-default-export -- The linter reads it so.
export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import'],
  jsPlugins: [join(import.meta.dirname, 'scripts/prose.ts')],
  categories: {
    correctness: 'error',
    suspicious: 'error',
  },
  env: {
    es2024: true,
    node: true,
  },
  ignorePatterns: [
    'dist',
    'coverage',
    'examples/**/sample-project',
    'tools/site/.*/**',
    'create-escapement/templates',
    'suites/*/*/files',
    'suites/*/*/check',
  ],
  rules: {
    eqeqeq: [
      'error',
      'always',
      {
        null: 'ignore',
      },
    ],
    'no-console': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'max-lines': [
      'error',
      {
        max: 400,
      },
    ],
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'unicorn/prefer-node-protocol': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/consistent-type-imports': [
      'error',
      {
        fixStyle: 'inline-type-imports',
      },
    ],
    'typescript/no-import-type-side-effects': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/switch-exhaustiveness-check': [
      'error',
      {
        considerDefaultExhaustiveForUnions: true,
      },
    ],
    'typescript/no-misused-spread': [
      'error',
      {
        allow: ['string'],
      },
    ],
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/unbound-method': 'off',
    'typescript/consistent-return': 'off',
    'typescript/no-extraneous-class': 'off',
    'typescript/no-redundant-type-constituents': 'off',
    'typescript/no-unnecessary-type-parameters': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'no-new': 'off',
    'no-unused-vars': [
      'error',
      {
        argsIgnorePattern: '^_',
        varsIgnorePattern: '^_',
      },
    ],
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    'typescript/use-unknown-in-catch-callback-variable': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
  },
  overrides: [
    ...layerRules,
    { files: ['**'], rules: { 'prose/subject-first': 'error' } },
    {
      files: ['src/conversation/**/*.ts', 'src/machines/**/*.ts'],
      rules: forbid(
        'Pure code has no clock, random, environment, timer or I/O: take the value as an argument.',
        [
          'Date',
          'process',
          'performance',
          'crypto',
          'fetch',
          'setTimeout',
          'setInterval',
          'setImmediate',
          'queueMicrotask',
          'console',
          'Buffer',
        ],
        { object: 'Math', property: 'random' },
      ),
    },
    {
      files: ['src/**/*.ts', 'packages/*/src/**/*.ts'],
      excludeFiles: ['src/{conversation,machines}/**', 'packages/page/src/inspector/**', 'src/protocol/ports/clock.ts'],
      rules: forbid('Time goes through the Clock port.', ['setTimeout', 'setInterval'], {
        object: 'Date',
        property: 'now',
      }),
    },
    {
      files: ['packages/cli/src/**', 'examples/**', 'scripts/**', 'tools/**', 'test/**', 'packages/*/test/**'],
      rules: { 'no-console': 'off' },
    },
  ],
})
