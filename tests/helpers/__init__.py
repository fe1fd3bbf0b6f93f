"""What tests of several folders share; helpers of one folder are beside its tests."""
