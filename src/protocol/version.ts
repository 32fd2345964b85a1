/** Version of this package. A test keeps it equal to package.json. It is code so that every bundle contains it. */
export const version = '0.1.0'
